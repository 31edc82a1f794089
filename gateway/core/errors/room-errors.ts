import { type Entry, entry } from './error-entry.ts'

/** Codes of video rooms. */
export const roomCodes = {
  room_full: entry('The room has its maximum number of members.', 486, 409, 17, 'USER_BUSY', 'info'),
  room_locked: entry('The room is locked.', 403, 403, 21, 'CALL_REJECTED', 'info'),
  room_not_open: entry('The room cannot be joined at this time.', 403, 403, 21, 'CALL_REJECTED', 'info'),
  room_ended: entry('The session of the room has ended.', 480, 409, 31, 'NORMAL_UNSPECIFIED', 'info'),
  room_elsewhere: entry(
    'The session of the room is on another gateway.',
    480,
    409,
    31,
    'NORMAL_UNSPECIFIED',
    'info',
  ),
  room_member_unknown: entry('The room has no such member.', 404, 404, 1, 'UNALLOCATED_NUMBER', 'info'),
  room_layout_unknown: entry(
    'The room has no layout of this name at present.',
    400,
    422,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'info',
  ),
  room_position_unknown: entry(
    'No layout has a position of this name.',
    400,
    422,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'info',
  ),
  room_meta_too_large: entry(
    'The JSON text of the metadata has more than 2048 characters.',
    413,
    422,
    95,
    'INVALID_MSG_UNSPECIFIED',
    'info',
  ),
} as const satisfies Record<string, Entry>
