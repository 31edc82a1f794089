import { parts } from './schema-parts.ts'

const { flag, format, object, text } = parts

/** Schema of `push`. */
export const push = object(
  "Notifications to subscribers' devices when they are called. Without webPush, apns, fcm and webhook there are none.",
  {
    encryption: {
      ...text("Whether invitations are encrypted with the subscriber's key.", 'aes_256_gcm'),
      enum: ['aes_256_gcm', 'none'],
    },
    whenOnline: flag('Tell devices although a page of the subscriber is connected.', false),
    webPush: object(
      'Web Push, for browsers.',
      {
        subject: format('vapid-subject', 'Where push services reach the operator: mailto: or https:.'),
        publicKey: format(
          'p256-public-key',
          "The key that pages subscribe with, base64url. Without it, a pair made of the gateway's secret; `trunkline push-keys` makes another one.",
        ),
        privateKey: { ...format('p256-private-key', 'Its private key, base64url.'), writeOnly: true },
      },
      ['subject'],
    ),
    apns: object(
      "Apple's service, for VoIP tokens.",
      {
        keyFile: format('file-path', 'File of the signing key (.p8).'),
        keyId: { ...text('Id of that key.'), minLength: 1 },
        teamId: { ...text('Id of the team.'), minLength: 1 },
        topic: format('name', 'Bundle id of the application; .voip is put behind it.'),
        host: format('host-port', 'Host of the service.', 'api.push.apple.com'),
      },
      ['keyFile', 'keyId', 'teamId', 'topic'],
    ),
    fcm: object(
      'Firebase Cloud Messaging.',
      {
        serviceAccountFile: format('file-path', "File of the service account's key (JSON)."),
        host: format('host-port', 'Host of the service.', 'fcm.googleapis.com'),
      },
      ['serviceAccountFile'],
    ),
    webhook: object(
      'A server that tells devices for which none of the above is meant; signed like all webhooks.',
      { url: format('http-url', 'Told by POST with JSON.') },
      ['url'],
    ),
  },
)
