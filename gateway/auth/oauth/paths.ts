/** Paths of the authorization server under its issuer. */
export const oauthPaths = {
  authorization: '/login/oauth/authorize',
  signIn: '/login/oauth/sign-in',
  signOut: '/login/oauth/sign-out',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  keys: '/oauth/jwks',
} as const
