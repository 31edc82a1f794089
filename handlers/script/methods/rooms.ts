import { roomPattern } from '../../common/conferences.ts'
import { CallEnded } from '../../verbs.ts'
import type { Method, Outcome, ScriptContext } from '../method.ts'
import { pattern } from '../schema-builders.ts'
import type { Values } from '../values.ts'

const joinRoom = async (values: Values, { call, variables }: ScriptContext): Promise<Outcome> => {
  await call.joinRoom({ name: values.needed('name') })
  variables.assign({ join_room_result: 'joined' })
  if (call.signal.aborted) throw new CallEnded()
  return undefined
}

/** Methods for rooms. */
export const rooms: Readonly<Record<string, Method>> = {
  join_room: {
    description:
      'Makes the caller a member of a room, with audio and video, until the caller leaves it or it ends.',
    properties: {
      name: pattern(
        roomPattern,
        'Name of the room at /public/<name>, or its address. An unknown room exists while it has ' +
          'members.',
        'the name or the address of a room',
      ),
    },
    required: ['name'],
    failed: { join_room_result: 'failed' },
    run: joinRoom,
  },
}
