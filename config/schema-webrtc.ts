import { parts } from './schema-parts.ts'

const { duration, format, integer, list, object, text } = parts

/** Schema of `media.webrtc`. */
export const webrtc = object('WebRTC towards browsers.', {
  bind: format('ip', 'Local address for browsers.', '0.0.0.0'),
  announce: list(
    'Addresses for ICE candidates; none: the local ones.',
    format('announced-ip', 'An address that browsers can reach.'),
    [],
  ),
  port: integer('The one port of all browsers, UDP and TCP.', 1, 65_535, 44_444),
  turn: object(
    'TURN servers that browsers are told of, with passwords of limited time; without it, browsers reach us directly.',
    {
      urls: {
        ...list(
          'The servers: turn:, turns: and stun:.',
          format('ice-uri', 'A server, such as turn:turn.example:3478?transport=udp.'),
        ),
        minItems: 1,
      },
      secret: {
        ...text("What passwords are made of: coturn's static-auth-secret, with its use-auth-secret."),
        minLength: 16,
        writeOnly: true,
      },
      ttl: duration(
        'How long a password is good; no less than the token of the subscriber who gets it.',
        '12h',
      ),
    },
    ['urls'],
  ),
})
