import { parts } from './schema-parts.ts'

const { duration, flag, format, list, object, text } = parts

/** Schema of an entry of `oauth.clients`. */
export const oauthClient = object(
  'An application of yours that subscribers sign in to. It is public: it has no secret, for it could keep none.',
  {
    id: format('name', 'Its client_id.'),
    name: { ...text('Name that the sign-in page shows.'), minLength: 1, maxLength: 100 },
    project: format('name', 'Project whose subscribers sign in; default the first.'),
    redirectUris: {
      ...list('Where subscribers return to, each as the application writes it.', text('An absolute URI.')),
      minItems: 1,
      maxItems: 20,
    },
    native: flag(
      'Installed on a device: it may have a scheme of its own, any port of localhost, and is never let in without a click.',
      false,
    ),
  },
  ['id', 'name', 'redirectUris'],
)

/** Schema of `oauth`. */
export const oauth = object('Signing in by OAuth 2.0.', {
  url: format(
    'https-origin',
    'Where browsers reach the sign-in page; default https:// and http.publicHost. Without both there is none.',
  ),
  clients: list('Applications that subscribers sign in to.', oauthClient, []),
  accessTokenTtl: duration('How long an access token is good.', '1h'),
  refreshTokenTtl: {
    ...format('age', 'How long a sign-in can be renewed, from the sign-in on. Written as 36h or 30d.', '30d'),
  },
})
