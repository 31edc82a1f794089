/** An event that the worker is kept alive for. */
export interface LastingEvent {
  waitUntil(work: Promise<unknown>): void
}

/** A page of ours. */
export interface OpenPage {
  readonly visibilityState: DocumentVisibilityState
  focus(): Promise<unknown>
  postMessage(message: unknown): void
}

/** What happens to a service worker. */
export interface WorkerEvents {
  readonly install: LastingEvent
  readonly activate: LastingEvent
  readonly push: LastingEvent & { readonly data: { json(): unknown } | null }
  readonly notificationclick: LastingEvent & { readonly notification: Notification; readonly action: string }
  readonly pushsubscriptionchange: LastingEvent & { readonly newSubscription?: PushSubscription | null }
}

/** The part of `ServiceWorkerGlobalScope` that is used. The types of workers and those of pages exclude one another, and the SDK is one for pages. */
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
