import { defaultRoomMembers, maxRoomMembers } from '../../../../config/schema/room-schema.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { conferenceRooms } from '../fabric/conference-room-kind.ts'
import { text, withoutEffect, withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import {
  commonAnswers,
  commonBody,
  listRooms,
  type NewRoom,
  type Room,
  roomCollection,
} from './room-collection.ts'
import type { RoomDeps } from './room-routes.ts'

/** Sizes of a conference, by their maximum number of members. */
const sizes = { small: 10, medium: 50, large: maxRoomMembers } as const

type Size = keyof typeof sizes

const sizeNames = Object.keys(sizes) as readonly Size[]
/** Colours of a page that this gateway does not have. */
const colours = ['light', 'dark'].flatMap((look) =>
  ['primary', 'background', 'foreground', 'success', 'negative'].map((part) => `${look}_${part}`),
)

const { max_members: _, name, ...shared } = conferenceRooms.properties as Record<string, object>

const properties = {
  ...shared,
  ...withoutEffect('enable_chat', ...colours),
  name: { ...name, description: 'Name of the conference and of its address; default from `display_name`.' },
  display_name: { ...text(), description: 'Name that members see.' },
  size: {
    type: 'string',
    enum: sizeNames,
    description: `Number of members: small (10), medium (50) or large (${maxRoomMembers}); default medium.`,
  },
} as const

/** Body of a request. The schema has checked that its other fields are those of a room. */
interface Body {
  readonly size?: Size
}

const answers = {
  ...commonAnswers,
  size: { type: 'string', enum: sizeNames, description: 'Smallest size that holds `max_members`.' },
  enable_chat: { type: 'boolean', description: 'Always false: the conversation of the address is the chat.' },
  enable_room_previews: { type: 'boolean', description: 'Always false.' },
}

const listQuery = { type: 'object', additionalProperties: false, properties: pagingQuery } as const

/**
 * Conferences of the video API: the rooms of `/api/video/rooms` with a size in place of a number of members.
 * They have no ready-made page, and so neither its tokens nor its colours.
 */
export const conferenceRoutes = (
  site: TypedSite,
  { resources, requireProject }: Pick<RoomDeps, 'resources' | 'requireProject'>,
): void => {
  const routes = roomCollection<Room, Body>(site, resources, {
    path: '/api/video/conferences',
    name: 'video_conference',
    title: 'a conference',
    onRequest: requireProject('resources'),
    schema: { type: 'object', required: Object.keys(answers), properties: answers },
    properties,
    required: ['display_name'],
    fieldsOf: ({ size, ...fields }, isNew) => {
      const members = size ?? (isNew ? 'medium' : undefined)
      return { ...fields, ...(members && { max_members: sizes[members] }) } as NewRoom
    },
    read: (room) => room,
    changed: (room) => room,
    show: conferenceBody,
  })
  routes.list(
    forProjects('video rooms', 'list_video_conferences', 'List conferences'),
    listQuery,
    ({ projectId, query }) => listRooms(resources, projectId, pageOf(query)),
  )
}

const conferenceBody = (room: Room) => {
  const members = room.details.maxMembers ?? defaultRoomMembers
  return withoutUndefined({
    ...commonBody(room),
    size: sizeNames.find((size) => sizes[size] >= members) ?? 'large',
    enable_chat: false,
    enable_room_previews: false,
  })
}
