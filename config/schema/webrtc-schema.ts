import { duration, format, group, integer, list, object, secret } from './builders.ts'

/** Schema of `media.webrtc`. */
export const webrtc = group('WebRTC towards browsers.', {
  bind: format('ip', 'Local address of the port for browsers.', '0.0.0.0'),
  announce: list(
    'Addresses in ICE candidates; set the public one if the gateway is behind NAT. Empty selects the ' +
      'address of bind, or those of the machine if bind is 0.0.0.0.',
    format('announced-ip', 'Address that browsers can reach.'),
    [],
  ),
  port: integer('Port for the media of all browsers, UDP and TCP.', 1, 65_535, 44_444),
  turn: object(
    'TURN and STUN servers for browsers, with temporary passwords. By default, browsers reach the gateway ' +
      'directly.',
    {
      urls: {
        ...list(
          'URIs of the servers: turn:, turns: and stun:.',
          format('ice-uri', 'URI such as turn:turn.example:3478?transport=udp.'),
        ),
        minItems: 1,
      },
      secret: secret(
        'Secret from which the temporary passwords are derived; required for turn: and turns:. In coturn, ' +
          'it is static-auth-secret, with use-auth-secret.',
        16,
      ),
      ttl: duration(
        'Lifetime of a temporary password, at least 1m. The password lasts longer if the token of its ' +
          'page does.',
        '12h',
      ),
    },
    ['urls'],
  ),
})
