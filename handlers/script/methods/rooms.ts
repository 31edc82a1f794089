import { roomPattern } from '../../common/conferences.ts'
import { CallEnded } from '../../verbs.ts'
import type { Method, Outcome, ScriptContext } from '../method.ts'
import { pattern } from '../schema-builders.ts'
import type { Values } from '../values.ts'

const joinRoom = async (values: Values, { call, context, variables }: ScriptContext): Promise<Outcome> => {
  const { kind } = await call.joinConference(context.room(values.needed('name')))
  variables.assign({ join_room_result: kind === 'full' ? 'failed' : 'joined' })
  if (call.signal.aborted) throw new CallEnded()
  return undefined
}

/** Methods for the audio of rooms. */
export const rooms: Readonly<Record<string, Method>> = {
  join_room: {
    description: 'Adds the caller to the audio of a room until the caller leaves it or it ends.',
    properties: {
      name: pattern(
        roomPattern,
        'Name of the room at /public/<name>, or its address. An unknown room exists while it has ' +
          'participants.',
        'the name or the address of a room',
      ),
    },
    required: ['name'],
    failed: { join_room_result: 'failed' },
    run: joinRoom,
  },
}
