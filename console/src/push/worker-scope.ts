/** Event that keeps the worker alive. */
export interface LastingEvent {
  waitUntil(work: Promise<unknown>): void
}

/** Open page of this site. */
export interface OpenPage {
  readonly visibilityState: DocumentVisibilityState
  focus(): Promise<unknown>
  postMessage(message: unknown): void
}

/** Events of a service worker. */
export interface WorkerEvents {
  readonly install: LastingEvent
  readonly activate: LastingEvent
  readonly push: LastingEvent & { readonly data: { json(): unknown } | null }
  readonly notificationclick: LastingEvent & { readonly notification: Notification; readonly action: string }
  readonly pushsubscriptionchange: LastingEvent & { readonly newSubscription?: PushSubscription | null }
}

/**
 * Used part of `ServiceWorkerGlobalScope`. The types of workers and those of pages exclude each other, and
 * the SDK uses those of pages.
 */
export interface WorkerScope {
  readonly location: { readonly host: string }
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification' | 'getNotifications'>
  readonly clients: {
    matchAll(options: {
      readonly type: 'window'
      readonly includeUncontrolled: true
    }): Promise<readonly OpenPage[]>
    openWindow(url: string): Promise<unknown>
    claim(): Promise<void>
  }
  skipWaiting(): Promise<void>
  addEventListener<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): void
}
