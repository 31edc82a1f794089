import { longestName } from '../../common/conferences.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import type { QueuePlace } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { Noun } from './noun.ts'

/** `Queue`: who has waited longest in it. The document of `url` is run on that one before the two are joined. */
export const queue: Noun = {
  name: 'Queue',
  attributes: ['url', 'method'],
  read: (reader) => {
    const document = reader.target('url', 'method')
    const name = reader.content()
    if (name === '' || name.length > longestName) {
      reader.warning(
        codes.schema,
        `Queue needs a name of at most ${longestName} characters; nobody is called.`,
      )
      return undefined
    }
    return (stage) => ({
      to: `queue:${name}`,
      ...(document && {
        confirm: async (waiting, place) =>
          void (await stage.aside(waiting, document, {
            fields: { ...(place && queueFields(place)), DequeingCallSid: stage.call.info.callId },
          })),
      }),
    })
  },
}

const queueFields = ({ queueId, waitedMs }: QueuePlace): Fields => ({
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
})
