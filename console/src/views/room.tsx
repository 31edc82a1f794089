import '../room.css'
import type { Call, Room } from '@trunkline/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line } from '../lines.ts'
import { personsOf } from '../room-members.ts'
import { sayRemoval } from '../room-wait.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { roomTexts } from '../texts/room.ts'
import { CallTime, Quality } from './call.tsx'
import { lineText } from './call-state.tsx'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { IconButton } from './parts.tsx'
import { useFullScreen } from './picture.tsx'
import { RoomChat, useRoomChat } from './room-chat.tsx'
import { runCommand } from './room-commands.ts'
import { RoomPeople } from './room-people.tsx'
import { RoomPicture } from './room-picture.tsx'
import { HangUp, MuteTool, Tool, VideoTools } from './tool.tsx'

export { RoomWaitView } from './room-wait.tsx'

/** Panel beside the picture. */
type Panel = 'people' | 'chat'

/** Properties of a {@link RoomView}. */
export interface RoomViewProps {
  readonly line: Line
  readonly room: Room
}

/** Room of the current call: picture, people, chat and buttons. */
export const RoomView = ({ line, room }: RoomViewProps) => {
  // A call changes in place.
  const { ui } = usePage()
  const frame = useRef<HTMLElement>(null)
  const [panel, setPanel] = useState<Panel | undefined>(ui.narrow.value ? undefined : 'people')
  const chat = useRoomChat(line)
  useFocus(frame)
  usePicture(line.call)
  useRemoval(room)
  const toggle = (wanted: Panel) => {
    if (wanted === 'chat' && panel !== 'chat') chat?.open()
    setPanel(panel === wanted ? undefined : wanted)
  }
  const close = () => {
    const button = panel
    setPanel(undefined)
    frame.current?.querySelector<HTMLElement>(`[data-testid=room-${button}]`)?.focus()
  }
  return (
    <section
      ref={frame}
      class="room"
      aria-label={roomTexts().inRoom(room.name)}
      data-testid="room"
      data-state={line.call.state}
      data-panel={panel}
    >
      <Top line={line} room={room} frame={frame} />
      <RoomPicture call={line.call} room={room} />
      {panel === 'people' && <RoomPeople room={room} close={close} />}
      {panel === 'chat' && chat && <RoomChat chat={chat} close={close} />}
      <Buttons
        line={line}
        room={room}
        panel={panel}
        toggle={toggle}
        hasChat={chat !== undefined}
        isUnread={chat?.isUnread ?? false}
      />
      <News room={room} />
    </section>
  )
}

/** Moves the focus to *Leave* if the view of the dialled call had it. */
const useFocus = (frame: { readonly current: HTMLElement | null }) =>
  useEffect(() => {
    if (document.activeElement === document.body)
      frame.current?.querySelector<HTMLElement>('[data-focus=hangup]')?.focus()
  }, [])

/** Receives the picture of a room that was dialled without video, or into which a document moved the call. */
const usePicture = (call: Call) =>
  useEffect(() => {
    if (call.state !== 'active' || call.remoteStream.getVideoTracks().length > 0) return
    // Without the picture, the members are shown by their initials.
    void call.updateMedia({ video: { direction: 'recvonly' } }).catch(() => {})
  }, [call.state])

/** Says why the room made the user leave; the call may go on after the room. */
const useRemoval = (room: Room) => {
  const { phone } = usePage()
  useEffect(() => {
    const closed: Parameters<typeof room.on<'closed'>>[1] = ({ reason }) => {
      if (reason !== 'left') sayRemoval(phone, `room_${reason}`)
    }
    room.on('closed', closed)
    return () => room.off('closed', closed)
  }, [room])
}

const layoutNames = () => {
  const t = roomTexts()
  return [
    ['grid-responsive', t.layoutGrid],
    ['highlight-1-responsive', t.layoutSpeaker],
    ['full-screen', t.layoutOne],
  ] as const
}

/** Properties of {@link Top}. */
interface TopProps extends RoomViewProps {
  readonly frame: { readonly current: HTMLElement | null }
}

const Top = ({ line, room, frame }: TopProps) => {
  usePage()
  const isFull = useFullScreen()
  const own = roomTexts()
  const later = laterTexts()
  const state = lineText(line)
  const toggleFull = () =>
    void (isFull ? document.exitFullscreen() : frame.current?.requestFullscreen())?.catch(() => {})
  return (
    <header class="room-top">
      <h2 data-testid="room-name">{room.name}</h2>
      {room.isLocked && (
        <span class="room-locked" data-testid="room-locked">
          <Icon name="lock" />
          <span>{own.locked}</span>
        </span>
      )}
      {state === undefined ? (
        <>
          <CallTime since={line.answeredAt} />
          {line.call.quality && <Quality bars={line.call.quality.bars} />}
        </>
      ) : (
        <span class={line.broken ? 'state broken' : 'state'}>{state}</span>
      )}
      <span class="room-top-end">
        <LayoutChoice room={room} />
        {document.fullscreenEnabled && (
          <IconButton
            icon="expand"
            label={isFull ? later.leaveFullScreen : later.fullScreen}
            press={toggleFull}
            testId="full-screen"
          />
        )}
      </span>
    </header>
  )
}

const LayoutChoice = ({ room }: { readonly room: Room }) => {
  const { phone } = usePage()
  const own = roomTexts()
  const known = layoutNames().filter(([name]) => room.layouts.includes(name))
  const current = room.layout?.name
  if (known.length < 2 || current === undefined || !room.rights.setLayout) return null
  const isKnown = known.some(([name]) => name === current)
  return (
    <select
      aria-label={own.layout}
      title={own.layout}
      data-testid="room-layout"
      value={current}
      onChange={({ currentTarget: { value } }) => void runCommand(phone, () => room.setLayout(value))}
    >
      {known.map(([name, label]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
      {!isKnown && <option value={current}>{current}</option>}
    </select>
  )
}

/** Properties of {@link Buttons}. */
interface ButtonsProps extends RoomViewProps {
  readonly panel: Panel | undefined
  readonly toggle: (panel: Panel) => void
  readonly hasChat: boolean
  readonly isUnread: boolean
}

const Buttons = ({ line: { call }, room, panel, toggle, hasChat, isUnread }: ButtonsProps) => {
  const { phone } = usePage()
  const own = roomTexts()
  const isRaised = room.self?.handRaised ?? false
  return (
    <div class="room-buttons">
      {call.state === 'held' && (
        <Tool
          name="hold"
          icon="pause"
          label={texts.value.resume}
          press={() => void phone.controls.toggleHold()}
          on
        />
      )}
      <MuteTool call={call} />
      <VideoTools call={call} />
      <Tool
        name="hand"
        icon="hand"
        label={isRaised ? own.lowerHand : own.raiseHand}
        on={isRaised}
        press={() => void runCommand(phone, () => room.setHand(!isRaised))}
      />
      <Tool
        name="room-people"
        icon="people"
        label={own.people}
        expanded={panel === 'people'}
        press={() => toggle('people')}
      >
        <i class="count quiet-count" data-count={personsOf(room).length} aria-hidden="true" />
      </Tool>
      {hasChat && (
        <Tool
          name="room-chat"
          icon="chat"
          label={own.chat}
          expanded={panel === 'chat'}
          title={isUnread ? own.chatWithNew : own.chat}
          press={() => toggle('chat')}
        >
          {isUnread && <i class="count dot-count" aria-hidden="true" />}
        </Tool>
      )}
      <HangUp icon="exit" label={own.leave} />
    </div>
  )
}

/** Announces members who join, leave, share and raise hands to assistive technology. */
const News = ({ room }: { readonly room: Room }) => {
  const [news, setNews] = useState('')
  useEffect(() => {
    const hands = new Set(room.members.filter(({ handRaised }) => handRaised).map(({ id }) => id))
    const own = roomTexts
    const joined: Parameters<typeof room.on<'joined'>>[1] = ({ member: { name, kind } }) => {
      if (kind === 'screen') setNews(own().sharesNow(name))
      if (kind === 'member') setNews(own().joined(name))
    }
    const left: Parameters<typeof room.on<'left'>>[1] = ({ member: { name, kind } }) => {
      if (kind === 'member') setNews(own().left(name))
    }
    const locked: Parameters<typeof room.on<'locked'>>[1] = ({ isLocked }) =>
      setNews(isLocked ? own().lockedNow : own().unlockedNow)
    const changed: Parameters<typeof room.on<'members'>>[1] = ({ members }) => {
      for (const { id, name, handRaised, isSelf } of members) {
        if (handRaised && !hands.has(id) && !isSelf) setNews(own().raisedNow(name))
        if (handRaised) hands.add(id)
        else hands.delete(id)
      }
    }
    room.on('joined', joined)
    room.on('left', left)
    room.on('locked', locked)
    room.on('members', changed)
    return () => {
      room.off('joined', joined)
      room.off('left', left)
      room.off('locked', locked)
      room.off('members', changed)
    }
  }, [room])
  return (
    <p class="aside" role="status" data-testid="room-news">
      {news}
    </p>
  )
}
