import type { Clock } from '@trunkline/client'
import type { Phone } from '../phone.ts'
import { language, texts } from '../texts/language.ts'
import type { KeptStore } from './kept.ts'
import { pendingMs, type WorkerMessage } from './messages.ts'

/** Collaborators of {@link followWorker}. */
export interface FollowWorkerDeps {
  readonly kept: KeptStore
  readonly phone: Pick<Phone, 'reject' | 'accept' | 'pushed'>
  readonly clock: Clock
}

/**
 * Follows the user's choices at notifications, and stores the language of the page for the service worker.
 * Ends with `life`.
 */
export const followWorker = ({ kept, phone, clock }: FollowWorkerDeps, life: AbortSignal): void => {
  const pending = async () => {
    const call = await kept.get('pending').catch(() => undefined)
    if (!call) return
    await kept.remove('pending').catch(() => {})
    if (clock.now() - call.at < pendingMs) await phone.pushed(call.push, call.answer)
  }
  const received = ({ kind, id, push }: WorkerMessage) => {
    if (kind === 'decline') phone.reject(id)
    else if (kind === 'answer' && !push) void phone.accept(id)
    else if (kind === 'answer') void pending()
    else if (push) void phone.pushed(push, false)
  }
  navigator.serviceWorker?.addEventListener('message', ({ data }) => received(data as WorkerMessage), {
    signal: life,
  })
  void pending()
  const keepLanguage = () => void kept.set('language', language()).catch(() => {})
  keepLanguage()
  life.addEventListener('abort', texts.follow(keepLanguage))
}
