import type { Room, RoomMember } from '@trunkline/client'
import { readableName } from '../format.ts'
import { personsOf, screensOf, statesOf } from '../room-members.ts'
import { roomTexts } from '../texts/room.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton } from './parts.tsx'
import { runCommand } from './room-commands.ts'
import { RoomEnd } from './room-end.tsx'

const Entry = ({ member, room }: { readonly member: RoomMember; readonly room: Room }) => {
  const { phone } = usePage()
  const t = roomTexts()
  const name = readableName(member.name)
  const { id, isSelf, talking, handRaised, audioMuted } = member
  const run = (command: () => Promise<void>) => void runCommand(phone, command)
  return (
    <li class="member" data-testid="member" data-name={name} data-talking={talking}>
      <Avatar name={name} />
      <span class="entry-text">
        <span class="entry-name">{name}</span>
        <span class="quiet" data-testid="member-states">
          {statesOf(member)}
        </span>
        {talking && <span class="aside">{t.talking}</span>}
      </span>
      {handRaised && (isSelf || !room.rights.muteOthers) && <Icon name="hand" />}
      {!isSelf && handRaised && room.rights.muteOthers && (
        <IconButton
          icon="hand"
          label={t.lowerHandOf(name)}
          testId="member-lower-hand"
          class="good"
          press={() => run(() => room.setHand(false, id))}
        />
      )}
      {audioMuted && <Icon name="microphoneOff" />}
      {!isSelf && !audioMuted && room.rights.muteOthers && (
        <IconButton
          icon="microphone"
          label={t.muteMember(name)}
          testId="member-mute"
          press={() => run(() => room.muteMember(id, { audio: true }))}
        />
      )}
      {!isSelf && room.rights.remove && (
        <IconButton
          icon="close"
          label={t.removeMember(name)}
          testId="member-remove"
          class="danger"
          press={() => run(() => room.remove(id))}
        />
      )}
    </li>
  )
}

const Screen = ({ screen, room }: { readonly screen: RoomMember; readonly room: Room }) => {
  const { phone } = usePage()
  const t = roomTexts()
  const name = readableName(screen.name)
  const isOwn = screen.ownerId === room.self?.id
  return (
    <li class="member" data-testid="screen">
      <span class="avatar">
        <Icon name="screen" />
      </span>
      <span class="entry-text">
        <span class="entry-name">{isOwn ? t.yourScreen : t.screenOf(name)}</span>
      </span>
      {!isOwn && room.rights.remove && (
        <IconButton
          icon="close"
          label={t.endScreenOf(name)}
          class="danger"
          press={() => void runCommand(phone, () => room.remove(screen.id))}
        />
      )}
    </li>
  )
}

/** Properties of {@link RoomPeople}. */
export interface RoomPeopleProps {
  readonly room: Room
  readonly close: () => void
}

/** Panel with the members of a room and their states, the lock and the end. */
export const RoomPeople = ({ room, close }: RoomPeopleProps) => {
  const { phone } = usePage()
  const t = roomTexts()
  const people = personsOf(room)
  const toggleLock = () => void runCommand(phone, () => (room.isLocked ? room.unlock() : room.lock()))
  return (
    <aside class="room-panel" aria-label={t.peopleInRoom(people.length)} data-testid="room-panel">
      <header class="room-panel-top">
        <h3>{t.peopleInRoom(people.length)}</h3>
        <IconButton icon="close" label={t.hide} testId="room-panel-close" press={close} />
      </header>
      <ul class="members">
        {people.map((member) => (
          <Entry key={member.id} member={member} room={room} />
        ))}
        {screensOf(room).map((screen) => (
          <Screen key={screen.id} screen={screen} room={room} />
        ))}
      </ul>
      {(room.rights.lock || room.rights.end) && (
        <footer class="room-panel-end">
          {room.rights.lock && (
            <button type="button" class="outlined" data-testid="room-lock" onClick={toggleLock}>
              <Icon name="lock" />
              {room.isLocked ? t.unlock : t.lock}
            </button>
          )}
          {room.rights.end && <RoomEnd room={room} />}
        </footer>
      )}
    </aside>
  )
}
