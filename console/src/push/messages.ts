import type { DecryptedPush } from '@trunkline/client'

/** Time for which a notification can be answered, in milliseconds; longer than a call rings. */
export const pendingMs = 120_000

/** Data stored with a notification. */
export interface AlertData {
  /** Id of the call; for a notification of a page, its id there. */
  readonly id: string
  /** Only for a notification that arrived by push. */
  readonly push?: DecryptedPush
}

/** Message of the service worker to the pages. */
export type WorkerMessage =
  /** A call arrived by push. */
  | { readonly kind: 'ring'; readonly id: string; readonly push: DecryptedPush }
  /** The user answered. `push` as in the notification. */
  | { readonly kind: 'answer'; readonly id: string; readonly push?: DecryptedPush }
  /** The user declined. */
  | { readonly kind: 'decline'; readonly id: string; readonly push?: DecryptedPush }

/** Returns the id of the call of a push, as used by the SDK. */
export const callIdOf = ({ decrypted }: Pick<DecryptedPush, 'decrypted'>): string => {
  const event = decrypted as { params?: { params?: { callID?: unknown } } }
  const id = event.params?.params?.callID
  return typeof id === 'string' ? id : ''
}

/** Returns the Q.850 cause of the event that ended the call. */
export const causeOf = ({ decrypted }: Pick<DecryptedPush, 'decrypted'>): string => {
  const event = decrypted as { params?: { params?: { cause?: unknown } } }
  const cause = event.params?.params?.cause
  return typeof cause === 'string' ? cause : ''
}
