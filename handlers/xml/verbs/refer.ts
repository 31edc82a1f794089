import { isSipUri } from '../../common/destinations.ts'
import type { Fields } from '../../common/forms.ts'
import type { ReferResult } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { ElementKind, VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'

const target: ElementKind = { name: 'Sip', attributes: ['username', 'password'] }

/** `Refer` asks the caller's telephone to call the `Sip` in it instead. Its action is told what came of that. */
export const refer: VerbKind = {
  name: 'Refer',
  attributes: ['action', 'method'],
  inside: [target],
  read: (reader) => {
    const action = reader.action()
    const [noun, ...more] = reader.nestedOf([target])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Refer takes one Sip; this one has no effect.')
    const to = noun?.reader.content() ?? ''
    const username = noun?.reader.text('username')
    const password = noun?.reader.text('password')
    if (!isSipUri(to)) {
      const message = 'Refer needs a Sip with a SIP URI such as sip:user@example.com; it has no effect.'
      reader.warning(codes.sipUri, message)
      return undefined
    }
    return async (stage) => {
      await stage.answer()
      const credentials = { ...(username && { username }), ...(password && { password }) }
      const result = await stage.attempt(stage.call.refer({ to, ...credentials }))
      return asked(action, result ? resultFields(result) : { ReferCallStatus: 'failed' })
    }
  },
}

/** What was completed is in progress elsewhere. */
const resultFields = ({ kind, status, notifyStatus }: ReferResult): Fields => ({
  ReferCallStatus: kind === 'completed' ? 'in-progress' : kind,
  ReferSipResponseCode: String(status),
  ...(notifyStatus !== undefined && { NotifySipResponseCode: String(notifyStatus) }),
})
