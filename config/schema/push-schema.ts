import { choice, flag, format, group, object, text } from './builders.ts'

/** Schema of `push`. */
export const push = group(
  "Notifications of calls to subscribers' devices. They are off unless at least one of webPush, apns, fcm " +
    'and webhook is set.',
  {
    encryption: choice(
      "Encryption of invitations with the subscriber's key; with none, the push service can read them.",
      ['aes_256_gcm', 'none'],
      'aes_256_gcm',
    ),
    whenOnline: flag('Notifies devices even while a browser of the subscriber is connected.', false),
    webPush: object(
      'Web Push, for browsers.',
      {
        subject: format(
          'vapid-subject',
          'Contact of the operator for push services: a mailto: or https: URI.',
        ),
        publicKey: format(
          'p256-public-key',
          'Public key that pages subscribe with, base64url. By default, the keys are derived from the ' +
            "gateway's secret. `trunkline push-keys` generates another pair.",
        ),
        privateKey: {
          ...format('p256-private-key', 'Private key that belongs to publicKey, base64url.'),
          writeOnly: true,
        },
      },
      ['subject'],
    ),
    apns: object(
      'Apple Push Notification service, for VoIP tokens.',
      {
        keyFile: format('file-path', 'File with the signing key from Apple (.p8).'),
        keyId: { ...text('Id of the signing key.'), minLength: 1 },
        teamId: { ...text('Id of the developer team.'), minLength: 1 },
        topic: format(
          'name',
          'Bundle id of the application, without the suffix .voip, which the gateway adds.',
        ),
        host: format('host-port', 'Host of the service.', 'api.push.apple.com'),
      },
      ['keyFile', 'keyId', 'teamId', 'topic'],
    ),
    fcm: object(
      'Firebase Cloud Messaging.',
      {
        serviceAccountFile: format('file-path', "File with the service account's key (JSON)."),
        host: format('host-port', 'Host of the service.', 'fcm.googleapis.com'),
      },
      ['serviceAccountFile'],
    ),
    webhook: object(
      'Server that notifies devices of all other kinds. The requests to it are signed like all webhooks.',
      { url: format('http-url', 'URL that receives notifications by POST with JSON.') },
      ['url'],
    ),
  },
)
