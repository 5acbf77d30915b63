// Security headers: a Content-Security-Policy that allows only same-origin content and no framing.
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
  // Browsers without Sec-Fetch-Site then still send Origin with forms, which the same-origin check
  // needs.
  referrerPolicy: { policy: 'same-origin' },
  // Subdomains are outside the control of this service.
  strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
  xFrameOptions: { action: 'deny' },
});
