import '../room.css'
import type { Call, Room } from '@trunkline/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line } from '../lines.ts'
import { personsOf } from '../room-members.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { roomTexts } from '../texts/room.ts'
import { CallTime, Quality } from './call.tsx'
import { lineText } from './call-state.tsx'
import { Icon, type IconName } from './icon.tsx'
import { usePage } from './page.ts'
import { IconButton } from './parts.tsx'
import { useFullScreen } from './picture.tsx'
import { RoomChat, useRoomChat } from './room-chat.tsx'
import { runCommand } from './room-commands.ts'
import { RoomPeople } from './room-people.tsx'
import { RoomPicture } from './room-picture.tsx'

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

/** Properties of a {@link Button}. */
interface ButtonProps {
  readonly name: string
  readonly icon: IconName
  readonly label: string
  readonly press: () => void
  /** State of a toggle button. */
  readonly on?: boolean
  readonly expanded?: boolean
  readonly enabled?: boolean
  readonly count?: number
  /** Name in place of the label for assistive technology, and a mark on the button. */
  readonly marked?: string | undefined
}

const Button = ({ name, icon, label, press, on, expanded, enabled = true, count, marked }: ButtonProps) => (
  <button
    type="button"
    class="tool"
    title={marked ?? label}
    aria-label={marked}
    aria-pressed={on}
    aria-expanded={expanded}
    disabled={!enabled}
    data-testid={name}
    onClick={press}
  >
    <Icon name={icon} />
    <span>{label}</span>
    {count !== undefined && <i class="count quiet-count" data-count={count} aria-hidden="true" />}
    {marked && <i class="count dot-count" aria-hidden="true" />}
  </button>
)

/** Properties of {@link Buttons}. */
interface ButtonsProps extends RoomViewProps {
  readonly panel: Panel | undefined
  readonly toggle: (panel: Panel) => void
  readonly hasChat: boolean
  readonly isUnread: boolean
}

const Buttons = ({ line: { call }, room, panel, toggle, hasChat, isUnread }: ButtonsProps) => {
  const { phone } = usePage()
  const { controls } = phone
  const t = texts.value
  const own = roomTexts()
  const isMuted = call.muted.audio
  const sendsVideo = call.video.local
  const isSharing = call.screenShareList.some(({ state }) => state !== 'ended')
  const isRaised = room.self?.handRaised ?? false
  const isTalking = call.state === 'active'
  return (
    <div class="room-buttons">
      {call.state === 'held' && (
        <Button name="hold" icon="pause" label={t.resume} press={() => void controls.toggleHold()} on />
      )}
      <Button
        name="mute"
        icon={isMuted ? 'microphoneOff' : 'microphone'}
        label={isMuted ? t.unmute : t.mute}
        on={isMuted}
        enabled={isTalking}
        press={() => controls.toggleMute()}
      />
      <Button
        name="camera"
        icon={sendsVideo ? 'camera' : 'cameraOff'}
        label={sendsVideo ? t.stopVideo : t.video}
        on={sendsVideo}
        enabled={isTalking}
        press={() => void controls.toggleCamera()}
      />
      {typeof navigator.mediaDevices?.getDisplayMedia === 'function' && (
        <Button
          name="share"
          icon="screen"
          label={isSharing ? t.stopSharing : t.share}
          on={isSharing}
          enabled={isTalking}
          press={() => void controls.toggleShare()}
        />
      )}
      <Button
        name="hand"
        icon="hand"
        label={isRaised ? own.lowerHand : own.raiseHand}
        on={isRaised}
        press={() => void runCommand(phone, () => room.setHand(!isRaised))}
      />
      <Button
        name="room-people"
        icon="people"
        label={own.people}
        expanded={panel === 'people'}
        count={personsOf(room).length}
        press={() => toggle('people')}
      />
      {hasChat && (
        <Button
          name="room-chat"
          icon="chat"
          label={own.chat}
          expanded={panel === 'chat'}
          marked={isUnread ? own.chatWithNew : undefined}
          press={() => toggle('chat')}
        />
      )}
      <button
        type="button"
        class="hang-up"
        data-testid="hangup"
        data-focus="hangup"
        title={own.leave}
        onClick={() => controls.hangup()}
      >
        <Icon name="exit" />
        <span>{own.leave}</span>
      </button>
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
