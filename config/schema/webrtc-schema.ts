import { duration, format, group, integer, list, object, secret } from './builders.ts'

/** Schema of `media.webrtc`. */
export const webrtc = group('WebRTC towards browsers.', {
  bind: format('ip', 'Local address for browsers.', '0.0.0.0'),
  announce: list(
    'Addresses of ICE candidates. Empty means the address of bind, or those of the machine if bind is ' +
      '0.0.0.0.',
    format('announced-ip', 'Address that browsers can reach.'),
    [],
  ),
  port: integer('Port of all browsers, UDP and TCP.', 1, 65_535, 44_444),
  turn: object(
    'TURN servers for browsers, with temporary passwords; default none: browsers reach the gateway directly.',
    {
      urls: {
        ...list(
          'URIs of the servers: turn:, turns: and stun:.',
          format('ice-uri', 'URI such as turn:turn.example:3478?transport=udp.'),
        ),
        minItems: 1,
      },
      secret: secret(
        "Secret from which passwords are derived: coturn's static-auth-secret, with use-auth-secret. " +
          'Required for turn: and turns:.',
        16,
      ),
      ttl: duration("Lifetime of a password; at least that of the subscriber's token.", '12h'),
    },
    ['urls'],
  ),
})
