/** Signing in by OAuth 2.0. */
export interface OAuthConfig {
  /**
   * Where browsers reach the sign-in page, an https origin; default that of the public host. Without both
   * there is no OAuth.
   */
  readonly url?: string
  readonly clients: readonly OAuthClientConfig[]
  /** Default 1 hour. */
  readonly accessTokenTtlMs: number
  /** How long a sign-in can be renewed, from the sign-in on; default 30 days. */
  readonly refreshTokenTtlMs: number
}

/** An application that subscribers sign in to; public. */
export interface OAuthClientConfig {
  readonly id: string
  readonly name: string
  /** Default the first. */
  readonly project?: string
  readonly redirectUris: readonly string[]
  /** Installed on a device (RFC 8252); default false. */
  readonly native: boolean
}
