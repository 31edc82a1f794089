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

/** Rooms, of which a caller takes part in the audio. */
export const rooms: Readonly<Record<string, Method>> = {
  join_room: {
    description: 'Takes part in the audio of a room until the caller leaves it or it ends.',
    properties: {
      name: pattern(
        roomPattern,
        'The room at /public/<name>, or an address; made where there is none, for as long as somebody is in it.',
        'the name or the address of a room',
      ),
    },
    required: ['name'],
    failed: { join_room_result: 'failed' },
    run: joinRoom,
  },
}
