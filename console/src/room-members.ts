import type { LayoutLayer, Room, RoomMember } from '@trunkline/client'
import { roomTexts } from './texts/room.ts'

/** Place of the picture with its member. */
export interface Tile {
  readonly layer: LayoutLayer
  readonly member: RoomMember
}

/** Returns the persons of a room: the user, raised hands, then all others as they joined. */
export const personsOf = ({ members }: Pick<Room, 'members'>): readonly RoomMember[] => {
  const rank = ({ isSelf, handRaised }: RoomMember) => (isSelf ? 0 : handRaised ? 1 : 2)
  return members.filter(({ kind }) => kind === 'member').sort((a, b) => rank(a) - rank(b))
}

/** Returns the shared screens of a room. */
export const screensOf = ({ members }: Pick<Room, 'members'>): readonly RoomMember[] =>
  members.filter(({ kind }) => kind === 'screen')

/** Returns the states of a member in words; empty for a member that talks with video. */
export const statesOf = (member: RoomMember): string => {
  const t = roomTexts()
  const states = [
    member.isSelf && t.you,
    member.isPhone && t.telephone,
    member.handRaised && t.handRaised,
    member.isOnHold && t.onHold,
    member.audioMuted && t.muted,
    !member.isVisible && !member.isPhone && t.videoOff,
    member.isSharing && t.sharing,
  ]
  return states.filter(Boolean).join(' · ')
}

const showsFilm = ({ layout }: Pick<Room, 'layout'>): boolean =>
  layout?.layers.some((layer) => layer.playing_file) ?? false

/**
 * Returns the places of the picture that members have, the lowest first. A film that is played hides most
 * places: these are left out.
 */
export const tilesOf = ({ layout, members }: Pick<Room, 'layout' | 'members'>): readonly Tile[] => {
  const hasFilm = showsFilm({ layout })
  return (layout?.layers ?? [])
    .filter(({ visible }) => !hasFilm || visible !== false)
    .flatMap((layer) => {
      const member = members.find(({ id }) => id === layer.member_id)
      return member ? [{ layer, member }] : []
    })
    .sort((a, b) => a.layer.z_index - b.layer.z_index)
}

/** Whether the picture of a room shows a film or a member. */
export const hasPicture = (room: Pick<Room, 'layout' | 'members'>): boolean =>
  showsFilm(room) || tilesOf(room).some(({ layer }) => layer.visible !== false)

/** Returns the persons who talk and have no place in the picture, such as telephones. */
export const unseenSpeakers = (room: Pick<Room, 'layout' | 'members'>): readonly RoomMember[] => {
  const tiles = tilesOf(room)
  return personsOf(room).filter(({ id, talking }) => talking && !tiles.some(({ member }) => member.id === id))
}
