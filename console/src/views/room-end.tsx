import type { Room } from '@trunkline/client'
import { useState } from 'preact/hooks'
import { personsOf } from '../room-members.ts'
import { texts } from '../texts/language.ts'
import { roomTexts } from '../texts/room.ts'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { runCommand } from './room-commands.ts'

/** Button that ends the room for all members, after a question. */
export const RoomEnd = ({ room }: { readonly room: Room }) => {
  const { phone } = usePage()
  const [isAsking, setAsking] = useState(false)
  const t = roomTexts()
  const close = () => setAsking(false)
  const end = () => {
    close()
    void runCommand(phone, () => room.end())
  }
  return (
    <>
      <button
        type="button"
        class="outlined danger"
        aria-haspopup="dialog"
        data-testid="room-end"
        onClick={() => setAsking(true)}
      >
        <Icon name="exit" />
        {t.endRoom}
      </button>
      {isAsking && (
        <Dialog title={t.endRoomQuestion} testId="room-end-dialog" close={close}>
          <p>{t.endRoomHint(personsOf(room).length)}</p>
          <div class="row end">
            <button type="button" class="plain" autofocus data-testid="room-end-cancel" onClick={close}>
              {texts.value.cancel}
            </button>
            <button type="button" class="danger-fill" data-testid="room-end-confirm" onClick={end}>
              {t.endRoom}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
