import { useEffect, useRef, useState } from 'preact/hooks'
import { plainAddress } from '../format.ts'
import type { Line } from '../lines.ts'
import { roomTexts } from '../texts/room.ts'
import { ThreadView } from './chats.tsx'
import { usePage } from './page.ts'
import { IconButton, Skeleton } from './parts.tsx'

/** Conversation of a room. */
export interface RoomConversation {
  readonly addressId: string
  readonly isUnread: boolean
  open(): void
}

/**
 * Returns the conversation of the room that a call has dialled. Undefined until it is known, and for rooms
 * without an entry in the address book.
 */
export const useRoomChat = ({ to, call }: Line): RoomConversation | undefined => {
  const { people, extras } = usePage()
  const [addressId, setAddressId] = useState<string | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    const find = async () => {
      const found = await people.find(plainAddress(to))
      if (!isOver && found?.type === 'room') setAddressId(found.id)
    }
    find().catch(() => {})
    return () => {
      isOver = true
    }
  }, [to])
  if (!extras || addressId === undefined) return undefined
  const { chats } = extras
  return {
    addressId,
    isUnread: chats.list.some(({ id, unread }) => id === addressId && unread),
    open: () => void chats.openRoom(addressId, call.room?.name ?? ''),
  }
}

/** Properties of {@link RoomChat}. */
export interface RoomChatProps {
  readonly chat: RoomConversation
  readonly close: () => void
}

/** Panel with the conversation of a room. */
export const RoomChat = ({ chat, close }: RoomChatProps) => {
  const { extras } = usePage()
  const t = roomTexts()
  const isOpen = extras?.chats.thread?.id === chat.addressId
  const wasOpen = useRef(false)
  useEffect(() => chat.open(), [])
  // The *Messages* tab shows one conversation: another one, or the list, closes the panel.
  useEffect(() => {
    if (wasOpen.current && !isOpen) close()
    wasOpen.current = isOpen
  }, [isOpen])
  useEffect(() => {
    if (isOpen && document.visibilityState === 'visible') extras?.chats.see()
  })
  return (
    <aside class="room-panel" aria-label={t.chat} data-testid="room-panel">
      <header class="room-panel-top">
        <h3>{t.chat}</h3>
        <IconButton icon="close" label={t.hide} testId="room-panel-close" press={close} />
      </header>
      {isOpen ? <ThreadView /> : <Skeleton />}
    </aside>
  )
}
