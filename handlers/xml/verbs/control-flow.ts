import type { VerbKind } from '../verb.ts'

/** Verb `Hangup`: answers the caller if necessary, and ends the call. `Reject` rejects without an answer. */
export const hangup: VerbKind = {
  name: 'Hangup',
  attributes: [],
  canRunInSideDocument: true,
  read: () => async (context) => {
    await context.answer()
    await context.call.hangup('hangup')
    return 'ended'
  },
}

/** Verb `Reject`: rejects an unanswered caller, and hangs up an answered one. */
export const reject: VerbKind = {
  name: 'Reject',
  attributes: ['reason'],
  read: (reader) => {
    const reason = reader.choice('reason', ['rejected', 'busy'], 'rejected')
    return async ({ call }) => {
      await call.hangup(call.isAnswered ? 'hangup' : reason === 'busy' ? 'busy' : 'decline')
      return 'ended'
    }
  },
}

/** Verb `Redirect`: continues with another document. */
export const redirect: VerbKind = {
  name: 'Redirect',
  attributes: ['method'],
  canRunInSideDocument: true,
  read: (reader) => {
    const method = reader.method('method')
    // An empty reference is the document itself (RFC 3986 section 4.4); an inline document has no URL.
    const url = reader.url(reader.content())
    return url === undefined ? undefined : async () => ({ next: { url, method }, fields: {} })
  },
}

/** Verb `Leave`: removes the waiting caller from the queue. */
export const leave: VerbKind = {
  name: 'Leave',
  attributes: [],
  canRunInSideDocument: true,
  read: () => async () => 'leave',
}
