import { choice, flag, format, integer, list, object, text } from './builders.ts'
import { belongsTo } from './entry-schemas.ts'

/** Names of the layouts of a room, as the API lists them. */
export const roomLayouts = [
  'grid-responsive',
  'grid-responsive-mobile',
  'highlight-1-responsive',
  '1x1',
  '2x1',
  '2x2',
  '5up',
  '3x3',
  '4x4',
  '5x5',
  '6x6',
  '8x8',
  '10x10',
  'full-screen',
] as const

/** Maximum number of members that a room may be set to, shared screens included. */
export const maxRoomMembers = 300
/** Maximum number of members of a room without a setting. */
export const defaultRoomMembers = 20

/** Maximum number of streams of a room. */
export const maxRoomStreams = 3

/** Schema of an entry of `rooms[].streams`. */
const stream = object(
  'Stream to a server.',
  {
    url: {
      ...format(
        'rtmp-url',
        'Server, application and key: rtmp://host/application/key, or with rtmps:. The key is a secret, ' +
          'preferably from an environment variable. It is stored encrypted, and never shown.',
      ),
      writeOnly: true,
    },
  },
  ['url'],
)

/** Schema of an entry of `rooms`. */
export const room = object(
  'Video room: an address in which browsers and telephones meet.',
  {
    project: belongsTo,
    address: format('address', 'Address, /context/name.'),
    displayName: text('Display name.'),
    maxMembers: integer(
      'Maximum number of members, shared screens included.',
      1,
      maxRoomMembers,
      defaultRoomMembers,
    ),
    layout: choice('Layout at the start of each session.', roomLayouts, 'grid-responsive'),
    recordOnStart: flag('Records each session from its first member on.', false),
    recordMembers: flag(
      'Recordings have files of the camera, the screen and the sound of each member.',
      false,
    ),
    tones: flag('Plays a tone when a member joins or leaves.', true),
    videoOff: flag('Members join with their video muted.', false),
    names: flag('Names stand over the cameras of a composed picture, too.', false),
    handsFirst: flag('Raised hands come before speakers when a layout has too few places.', false),
    streams: {
      ...list('Servers to which each session is streamed, at most three. Needs ffmpeg.', stream, []),
      maxItems: maxRoomStreams,
    },
  },
  ['address'],
)
