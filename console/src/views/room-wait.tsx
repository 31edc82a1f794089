import { useEffect, useRef } from 'preact/hooks'
import { readableName } from '../format.ts'
import { type RoomWait, rejectionText, type WaitingRoom } from '../room-wait.ts'
import { roomTexts } from '../texts/room.ts'
import { usePage } from './page.ts'
import { Avatar } from './parts.tsx'

/** Properties of a {@link RoomWaitView}. */
export interface RoomWaitProps {
  readonly rooms: RoomWait
  readonly room: WaitingRoom
}

/** Room that rejected the user, who waits for it. */
export const RoomWaitView = ({ rooms, room: { name, code } }: RoomWaitProps) => {
  const { phone } = usePage()
  const t = roomTexts()
  const attempt = phone.current
  const again = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (document.activeElement === document.body) again.current?.focus()
  }, [])
  const stop = () => {
    rooms.stop()
    if (attempt) phone.controls.hangup(attempt)
  }
  return (
    <section
      class="room-wait"
      aria-label={t.inRoom(readableName(name))}
      data-testid="room-wait"
      data-code={code}
    >
      <Avatar name={readableName(name)} size="huge" />
      <h2>{readableName(name)}</h2>
      <p role="status" class="quiet">
        {attempt ? t.waitAgain : `${rejectionText(code)} ${t.waitHint}`}
      </p>
      <div class="room-wait-buttons">
        <button
          ref={again}
          type="button"
          class="primary"
          data-testid="room-try-again"
          aria-disabled={attempt !== undefined}
          onClick={() => attempt || rooms.tryAgain()}
        >
          {t.tryAgain}
        </button>
        <button type="button" class="outlined" data-testid="room-stop-waiting" onClick={stop}>
          {t.stopWaiting}
        </button>
      </div>
    </section>
  )
}
