import type { DecryptedPush } from '@trunkline/client'

/** How long a notification may be answered: a call does not ring longer. In milliseconds. */
export const PENDING_MS = 120_000

/** What is kept with a notification. */
export interface AlertData {
  /** Of the call; of a notification that a page showed its id there. */
  readonly id: string
  /** Only of a notification that came by push. */
  readonly push?: DecryptedPush
}

/** What the service worker tells the pages. */
export type WorkerMessage =
  /** A call was pushed: show it. */
  | { readonly kind: 'ring'; readonly id: string; readonly push: DecryptedPush }
  /** The person answers it. `push` as with the notification. */
  | { readonly kind: 'answer'; readonly id: string; readonly push?: DecryptedPush }
  /** The person declines it. */
  | { readonly kind: 'decline'; readonly id: string; readonly push?: DecryptedPush }

/** Id of the call that a push is about, as the SDK knows it. */
export const callIdOf = ({ decrypted }: Pick<DecryptedPush, 'decrypted'>): string => {
  const event = decrypted as { params?: { params?: { callID?: unknown } } }
  const id = event.params?.params?.callID
  return typeof id === 'string' ? id : ''
}

/** The Q.850 cause of the event that ended the call. */
export const causeOf = ({ decrypted }: Pick<DecryptedPush, 'decrypted'>): string => {
  const event = decrypted as { params?: { params?: { cause?: unknown } } }
  const cause = event.params?.params?.cause
  return typeof cause === 'string' ? cause : ''
}
