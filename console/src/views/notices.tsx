import { useEffect } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { usePage } from './page.ts'
import { IconButton } from './parts.tsx'

/** Time for which a plain notice is shown, in milliseconds. Warnings stay until the user dismisses them. */
const plainMs = 8000

/** Messages for the user, above the page: they move nothing. */
export const Notices = () => {
  const { phone, clock } = usePage()
  const { notice } = phone
  useEffect(() => {
    if (notice?.tone !== 'plain') return
    const timer = clock.after(plainMs, () => phone.notice === notice && phone.dismiss())
    return () => timer.cancel()
  }, [notice])
  const again = notice?.again
  return (
    <div class="notices" role="status">
      {notice && (
        <div class={`notice ${notice.tone}`}>
          <p data-testid="notice">{notice.text}</p>
          {again && (
            <button
              type="button"
              class="plain"
              data-testid="call-again"
              disabled={phone.isBusy || phone.connection !== 'connected'}
              onClick={() => void phone.dial(again.number, { name: again.name })}
            >
              {texts.value.callAgain}
            </button>
          )}
          <IconButton icon="close" label={texts.value.dismiss} press={() => phone.dismiss()} />
        </div>
      )}
    </div>
  )
}
