import { isSipUri } from '../../common/destinations.ts'
import type { Fields } from '../../common/forms.ts'
import type { ReferResult } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { ElementKind, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'

const target: ElementKind = { name: 'Sip', attributes: ['username', 'password'] }

/** Verb `Refer`: transfers the caller by REFER to its `Sip`. The action receives the result. */
export const refer: VerbKind = {
  name: 'Refer',
  attributes: ['action', 'method'],
  children: [target],
  read: (reader) => {
    const action = reader.action()
    const [noun, ...more] = reader.nestedOf([target])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Refer supports one Sip; this one has no effect.')
    const to = noun?.reader.content() ?? ''
    const username = noun?.reader.text('username')
    const password = noun?.reader.text('password')
    if (!isSipUri(to)) {
      const message = 'Refer needs a Sip with a SIP URI such as sip:user@example.com; it has no effect.'
      reader.warning(codes.sipUri, message)
      return undefined
    }
    return async (context) => {
      await context.answer()
      const credentials = { ...(username && { username }), ...(password && { password }) }
      const result = await context.warnIfFailed(context.call.refer({ to, ...credentials }))
      return continueWith(action, result ? resultFields(result) : { ReferCallStatus: 'failed' })
    }
  },
}

/**
 * Form fields for the action. A completed transfer has the status `in-progress`: the call continues
 * elsewhere.
 */
const resultFields = ({ kind, status, notifyStatus }: ReferResult): Fields => ({
  ReferCallStatus: kind === 'completed' ? 'in-progress' : kind,
  ReferSipResponseCode: String(status),
  ...(notifyStatus !== undefined && { NotifySipResponseCode: String(notifyStatus) }),
})
