import type { VerbKind } from '../verb.ts'

/** `Hangup` ends the call. As the first verb it means "answered, then ended"; refusing is what `Reject` is for. */
export const hangup: VerbKind = {
  name: 'Hangup',
  attributes: [],
  aside: true,
  read: () => async (stage) => {
    await stage.answer()
    await stage.call.hangup('hangup')
    return 'over'
  },
}

/** `Reject` refuses a caller who has not been answered, and hangs up on one who has. */
export const reject: VerbKind = {
  name: 'Reject',
  attributes: ['reason'],
  read: (reader) => {
    const reason = reader.choice('reason', ['rejected', 'busy'], 'rejected')
    return async ({ call }) => {
      await call.hangup(call.answered ? 'hangup' : reason === 'busy' ? 'busy' : 'decline')
      return 'over'
    }
  },
}

/** `Redirect` goes on with another document. */
export const redirect: VerbKind = {
  name: 'Redirect',
  attributes: ['method'],
  aside: true,
  read: (reader) => {
    const method = reader.method('method')
    // No text means the document itself, as everywhere in URLs; an inline document has none.
    const url = reader.url(reader.content())
    return url === undefined ? undefined : async () => ({ next: { url, method }, fields: {} })
  },
}

/** `Leave` takes who waits out of the queue. */
export const leave: VerbKind = {
  name: 'Leave',
  attributes: [],
  aside: true,
  read: () => async () => 'leave',
}
