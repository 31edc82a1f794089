import type { Call, Room } from '@trunkline/client'
import { useRef } from 'preact/hooks'
import { readableName } from '../format.ts'
import { hasPicture, personsOf, type Tile, tilesOf, unseenSpeakers } from '../room-members.ts'
import { roomTexts } from '../texts/room.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar } from './parts.tsx'
import { Far, Own } from './picture.tsx'

/** Properties of a {@link RoomPicture}. */
export interface RoomPictureProps {
  readonly call: Call
  readonly room: Room
}

/** Picture of a room with the names of its places. Without film and visible place, the members are shown. */
export const RoomPicture = ({ call, room }: RoomPictureProps) => {
  // A call changes in place.
  usePage()
  const isShown = call.active && hasPicture(room)
  return (
    <div class="room-stage" data-testid="room-stage">
      <div class="canvas" hidden={!isShown} data-testid="room-picture">
        <FarPicture call={call} />
        {tilesOf(room).map(({ layer, member }) => (
          <Place key={member.id} call={call} layer={layer} member={member} />
        ))}
        <Speakers room={room} />
      </div>
      {!isShown && <Faces room={room} />}
    </div>
  )
}

const FarPicture = ({ call }: { readonly call: Call }) => {
  const far = useRef(null)
  return <Far call={call} fills={false} far={far} />
}

const percent = (value: number): string => `${value}%`

const Place = ({ call, layer, member }: Tile & { readonly call: Call }) => {
  const { x, y, width, height } = layer
  const name = readableName(member.name)
  const isOwn = member.isSelf && call.video.local && layer.visible !== false
  return (
    <div
      class={member.talking ? 'tile talking' : 'tile'}
      style={{ left: percent(x), top: percent(y), width: percent(width), height: percent(height) }}
      data-testid="tile"
      data-name={name}
    >
      {/* The own camera is shown without the delay of the network. */}
      {isOwn && <Own track={call.localVideoTrack} class="own-tile" />}
      {layer.visible === false && <Avatar name={name} size="big" />}
      <span class="tile-name">
        {member.audioMuted && <Icon name="microphoneOff" />}
        {member.handRaised && <Icon name="hand" />}
        <span>{member.isSelf ? roomTexts().you : name}</span>
      </span>
    </div>
  )
}

/** Names of persons who talk and have no place in the picture. */
const Speakers = ({ room }: { readonly room: Room }) => {
  const names = unseenSpeakers(room).map(({ name }) => readableName(name))
  if (names.length === 0) return null
  return (
    <span class="speakers" data-testid="speakers">
      {roomTexts().speaks(names.join(', '))}
    </span>
  )
}

const Faces = ({ room }: { readonly room: Room }) => (
  <ul class="faces" data-testid="faces">
    {personsOf(room).map(({ id, name, isSelf, isPhone, talking, audioMuted, handRaised }) => (
      <li key={id} class={talking ? 'face talking' : 'face'}>
        <Avatar name={readableName(name)} size="huge" />
        <span class="face-name">
          {isPhone && <Icon name="pickup" />}
          {audioMuted && <Icon name="microphoneOff" />}
          {handRaised && <Icon name="hand" />}
          <span>{isSelf ? roomTexts().you : readableName(name)}</span>
        </span>
      </li>
    ))}
  </ul>
)
