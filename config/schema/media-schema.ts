import { choice, duration, flag, format, group, integer, text } from './builders.ts'
import type { FormatName } from './formats.ts'
import { recordings } from './recordings-schema.ts'
import { sounds, speech } from './sound-schema.ts'
import { webrtc } from './webrtc-schema.ts'

/** Schema of an address, or of a list with one address of each IP family. */
const onePerFamily = <const F extends FormatName>(kind: F, description: string) =>
  ({
    ...format(kind, description),
    type: ['string', 'array'],
    items: format(kind, 'IP address.'),
    minItems: 1,
    maxItems: 2,
  }) as const

/** Schema of `media`. */
export const media = group('Audio of calls.', {
  rtp: group('RTP towards carriers and SIP endpoints.', {
    bind: {
      ...onePerFamily(
        'ip',
        'Local address of the RTP ports, or a list of one IPv4 and one IPv6 address. In a list, 0.0.0.0 ' +
          'or :: is ignored if the machine has no address of that family.',
      ),
      default: ['0.0.0.0', '::'],
    },
    announce: onePerFamily(
      'announced-ip',
      'Public address in SDP if the gateway is behind NAT, or a list with one address of each family of ' +
        'bind. Default the addresses of bind, and those of the machine for 0.0.0.0 and ::.',
    ),
    ports: group('Range of local UDP ports. A leg of a carrier or SIP endpoint uses two: RTP and RTCP.', {
      from: integer('First port, an even number.', 1024, 65_534, 20_000),
      to: integer('Last port, an odd number.', 1025, 65_535, 29_999),
    }),
    threads: integer('Number of worker threads for RTP.', 1, 64, 1),
    realtime: flag(
      'Real-time priority of these threads (SCHED_RR), if the system permits it and threads is less than ' +
        'the number of cores. Other work then delays audio much less.',
      true,
    ),
    startTimeout: duration(
      'Maximum wait for the first packet of a far side; the call then ends with media_timeout.',
      '30s',
    ),
    mediaTimeout: duration(
      'Maximum time without packets after the first one; the call then ends with media_timeout.',
      '60s',
    ),
  }),
  webrtc,
  rooms: group('Video rooms.', {
    picture: choice(
      'Picture of video rooms. auto: all members in one composed picture, if the machine can compose. ' +
        'speaker: the camera of the member who speaks, which needs little CPU.',
      ['auto', 'speaker'],
      'auto',
    ),
    ffmpeg: group('ffmpeg, which plays files into video rooms, and streams rooms. It is optional.', {
      program: text(
        'Path of ffmpeg, with ffprobe beside it. If the machine has none, rooms neither play files nor are ' +
          'streamed.',
        '/usr/bin/ffmpeg',
      ),
      maxProcesses: integer(
        'Maximum number of files and streams at a time. Each one may need a whole core.',
        0,
        64,
        4,
      ),
      maxFileSize: integer(
        'Maximum size of a file in MiB. It is kept in the temporary folder.',
        1,
        4096,
        256,
      ),
      fetchTimeout: duration('Maximum time for fetching a file.', '60s'),
    }),
  }),
  sounds,
  speech,
  recordings,
})
