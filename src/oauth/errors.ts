// Errors in the form of OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2).
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata';

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.name = 'OAuthError';
    this.code = code;
  }

  /** Clients register again after 401 with invalid_client. */
  get status(): number {
    return this.code === 'invalid_client' ? 401 : 400;
  }
}
