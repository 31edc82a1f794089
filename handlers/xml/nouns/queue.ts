import { maxNameLength } from '../../common/conferences.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import type { QueuePosition } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { Noun } from './noun.ts'

/**
 * Noun `Queue`: the caller who has waited longest in it. The document of `url` runs on that caller before the
 * bridge.
 */
export const queue: Noun = {
  name: 'Queue',
  attributes: ['url', 'method'],
  read: (reader) => {
    const document = reader.target('url', 'method')
    const name = reader.content()
    if (name === '' || name.length > maxNameLength) {
      reader.warning(
        codes.schema,
        `Queue needs a name of at most ${maxNameLength} characters; it is not called.`,
      )
      return undefined
    }
    return (context) => ({
      to: `queue:${name}`,
      ...(document && {
        confirm: async (waiting, place) =>
          void (await context.runSideDocument(waiting, document, {
            fields: { ...(place && queueFields(place)), DequeingCallSid: context.call.info.callId },
          })),
      }),
    })
  },
}

const queueFields = ({ queueId, waitedMs }: QueuePosition): Fields => ({
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
})
