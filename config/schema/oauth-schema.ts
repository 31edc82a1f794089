import { duration, flag, format, group, list, object, text } from './builders.ts'

/** Schema of an entry of `oauth.clients`. */
export const oauthClient = object(
  'Application in which subscribers sign in. It is a public client, without a secret.',
  {
    id: format('name', 'Id of the client (client_id).'),
    name: { ...text('Name on the sign-in page.'), minLength: 1, maxLength: 100 },
    project: format('name', 'Id of the project whose subscribers sign in; default the first project.'),
    redirectUris: {
      ...list('Redirect URIs, each exactly as the application sends it.', text('Absolute URI.')),
      minItems: 1,
      maxItems: 20,
    },
    native: flag(
      'Marks a native application (RFC 8252). It may use a private URI scheme and any port of localhost, ' +
        'and the subscriber must confirm each sign-in by a click.',
      false,
    ),
  },
  ['id', 'name', 'redirectUris'],
)

/** Schema of `oauth`. */
export const oauth = group('Sign-in by OAuth 2.0.', {
  url: format(
    'https-origin',
    'Origin of the sign-in page; default https:// followed by http.publicHost. Without both, OAuth is ' +
      'off.',
  ),
  clients: list('Applications in which subscribers sign in.', oauthClient, []),
  accessTokenTtl: duration('Lifetime of an access token.', '1h'),
  refreshTokenTtl: {
    ...format(
      'age',
      'Time after a sign-in in which the application can get new access tokens. Then the subscriber must ' +
        'sign in again. Written as 36h or 30d.',
      '30d',
    ),
  },
})
