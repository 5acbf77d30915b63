// What browsers are told to forbid on every page: whatever does not come from here, and being shown inside other pages.
import helmet from 'helmet';

export const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // Browsers without Sec-Fetch-Site then still send the Origin of a form, by which ours are known.
  referrerPolicy: { policy: 'same-origin' },
  // What other names of the domain do is not for this service to decide.
  strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
  xFrameOptions: { action: 'deny' },
});
