import { duration, flag, format, group, list, object, text } from './builders.ts'

/** Schema of an entry of `oauth.clients`. */
export const oauthClient = object(
  'Application to which subscribers sign in. It is a public client: it has no secret.',
  {
    id: format('name', 'Id of the client (client_id).'),
    name: { ...text('Name on the sign-in page.'), minLength: 1, maxLength: 100 },
    project: format('name', 'Project whose subscribers sign in; default the first project.'),
    redirectUris: {
      ...list('Redirect URIs, each exactly as the application sends it.', text('Absolute URI.')),
      minItems: 1,
      maxItems: 20,
    },
    native: flag(
      'Native application on a device (RFC 8252): it may use a private URI scheme and any port of ' +
        'localhost, and each sign-in needs a click.',
      false,
    ),
  },
  ['id', 'name', 'redirectUris'],
)

/** Schema of `oauth`. */
export const oauth = group('Sign-in by OAuth 2.0.', {
  url: format(
    'https-origin',
    'Origin of the sign-in page; default https:// and http.publicHost. Without both, OAuth is off.',
  ),
  clients: list('Applications that subscribers sign in to.', oauthClient, []),
  accessTokenTtl: duration('Lifetime of an access token.', '1h'),
  refreshTokenTtl: {
    ...format('age', 'Time from the sign-in during which it can be renewed. Written as 36h or 30d.', '30d'),
  },
})
