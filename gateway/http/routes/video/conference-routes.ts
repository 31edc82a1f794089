import { defaultRoomMembers, maxRoomMembers } from '../../../../config/schema/room-schema.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { conferenceRooms } from '../fabric/conference-room-kind.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { text, timeText, withoutEffect, withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import {
  findRoom,
  listRooms,
  type NewRoom,
  nameTaken,
  noResource,
  type Room,
  type RoomDeps,
} from './room-routes.ts'

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

const body = (required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties,
})

const answers = {
  id: { type: 'string' },
  address: { type: 'string' },
  ...conferenceRooms.answer,
  size: { type: 'string', enum: sizeNames, description: 'Smallest size that holds `max_members`.' },
  enable_chat: { type: 'boolean', description: 'Always false: the conversation of the address is the chat.' },
  enable_room_previews: { type: 'boolean', description: 'Always false.' },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
}

const schema = { type: 'object', required: Object.keys(answers), properties: answers }
const listQuery = { type: 'object', additionalProperties: false, properties: pagingQuery } as const

/**
 * Conferences of the video API: the rooms of `/api/video/rooms` with a size in place of a number of members.
 * They have no ready-made page, and so neither its tokens nor its colours.
 */
export const conferenceRoutes = (
  site: TypedSite,
  { resources, requireProject }: Pick<RoomDeps, 'resources' | 'requireProject'>,
): void => {
  const routes = new CollectionRoutes<Room>(site, {
    path: '/api/video/conferences',
    onRequest: requireProject('resources'),
    schema,
    show: conferenceBody,
  })
  routes.list(describe('list_video_conferences', 'List conferences'), listQuery, ({ projectId, query }) =>
    listRooms(resources, projectId, pageOf(query)),
  )
  routes.create(
    describe('create_video_conference', 'Create a conference'),
    body(['display_name']),
    ({ projectId, body: fields }) => {
      const { name: own, ...made } = conferenceRooms.create(roomFields(fields, 'medium'), noResource)
      const named = own === undefined ? made : { ...made, name: own }
      return nameTaken(resources.create({ ...named, projectId, type: 'room' }))
    },
  )
  routes.read(
    describe('get_video_conference', 'Get a conference by its id or name'),
    ({ projectId, params }) => findRoom(resources, projectId, params.id),
  )
  routes.update(
    (verb) => describe(`${verb}_video_conference`, 'Change a conference; omitted fields keep their values'),
    body([]),
    ({ projectId, params, body: fields }) => {
      const room = findRoom(resources, projectId, params.id)
      const change = conferenceRooms.change(roomFields(fields), room, noResource)
      return nameTaken(resources.update(projectId, 'room', room.id, change))
    },
  )
  routes.remove(describe('delete_video_conference', 'Delete a conference'), ({ projectId, params }) =>
    resources.remove(projectId, 'room', findRoom(resources, projectId, params.id).id),
  )
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

/** Returns the fields of a room. */
const roomFields = ({ size, ...fields }: Body, defaultSize?: Size): NewRoom => {
  const members = size ?? defaultSize
  return { ...fields, ...(members && { max_members: sizes[members] }) } as NewRoom
}

const conferenceBody = (room: Room) => {
  const { details } = room
  const members = details.maxMembers ?? defaultRoomMembers
  return withoutUndefined({
    id: room.id,
    address: `/${room.address.context}/${room.address.name}`,
    ...conferenceRooms.show(room),
    size: sizeNames.find((size) => sizes[size] >= members) ?? 'large',
    enable_chat: false,
    enable_room_previews: false,
    managed_by: room.managedByFile ? 'file' : 'api',
    created_at: timeText(room.createdAt),
    updated_at: timeText(room.updatedAt),
  })
}
