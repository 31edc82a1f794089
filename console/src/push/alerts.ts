import type { AlertOptions, ShownAlert } from './notifier.ts'

/** Name of the lock that this browser's page and service worker hold while they use notifications. */
const lockName = 'trunkline.alerts'

type Used = Pick<ServiceWorkerRegistration, 'showNotification' | 'getNotifications'>

/**
 * Notifications of this site. Page and service worker take turns to show and list them. Chromium forgets a
 * notification that it is about to show while another request lists them.
 */
export class Alerts {
  readonly #registration: Used

  constructor(registration: Used) {
    this.#registration = registration
  }

  /** Shows a notification. Rejects without the user's permission. */
  show(title: string, options: AlertOptions): Promise<void> {
    return alone(() => this.#registration.showNotification(title, options))
  }

  /** Returns the visible notifications with this tag. */
  shown(tag: string): Promise<readonly ShownAlert[]> {
    return alone(() => this.#registration.getNotifications({ tag }))
  }
}

/** Maximum wait for the turn, in ms: another notification may never appear. */
const maxWaitMs = 2000

// A browser without Web Locks does without the order.
const alone = async <T>(work: () => Promise<T>): Promise<T> => {
  let started = false
  const run = () => {
    started = true
    return work()
  }
  try {
    return await navigator.locks.request(lockName, { signal: AbortSignal.timeout(maxWaitMs) }, run)
  } catch (error) {
    if (started) throw error
    return work()
  }
}
