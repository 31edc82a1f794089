import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { Listed, ListPage, Resource } from '../../../directory/model/resource-types.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { conferenceRooms } from '../fabric/conference-room-kind.ts'
import { type CollectionOptions, CollectionRoutes } from '../shared/collection-routes.ts'
import { timeText } from '../shared/field-schemas.ts'
import { forProjects, type idParams } from '../shared/route-schemas.ts'

/** Room of a project. */
export type Room = Resource<'room'>
/** Fields of a new room. */
export type NewRoom = Parameters<typeof conferenceRooms.create>[0]

/** Form of rooms in one API. `Shown`: room with the further facts of its responses. */
export interface RoomForm<Shown, Body>
  extends Omit<CollectionOptions<Shown, unknown, typeof idParams>, 'params'> {
  /** Name in operation ids, such as `video_room`. */
  readonly name: string
  /** Name in summaries, such as `a video room`. */
  readonly title: string
  readonly properties: object
  /** Names of the required properties of a new room. */
  readonly required: readonly string[]
  /** Returns the fields of a room. The schema has checked the body. */
  readonly fieldsOf: (body: Body, isNew: boolean) => NewRoom
  /** Returns a room that was read. */
  readonly read: (room: Room) => Shown | Promise<Shown>
  /** Returns a room that was created or changed. */
  readonly changed: (room: Room) => Shown
}

/**
 * Adds the routes that rooms have in each form: create, read, change and remove. An item is found by its id,
 * or by the name of a room at `/public/`. Returns the collection for the list.
 */
export const roomCollection = <Shown, Body>(
  site: TypedSite,
  resources: Resources,
  form: RoomForm<Shown, Body>,
): CollectionRoutes<Shown> => {
  const { name, title, required, fieldsOf, changed } = form
  const routes = new CollectionRoutes<Shown>(site, form)
  const body = (names: readonly string[]) => ({
    type: 'object',
    required: [...names],
    additionalProperties: false,
    properties: form.properties,
  })
  routes.create(describe(`create_${name}`, `Create ${title}`), body(required), async (request) => {
    const { name: own, ...made } = conferenceRooms.create(fieldsOf(request.body as Body, true), noResource)
    const named = own === undefined ? made : { ...made, name: own }
    return changed(
      await nameTaken(resources.create({ ...named, projectId: request.projectId, type: 'room' })),
    )
  })
  routes.read(describe(`get_${name}`, `Get ${title} by its id or name`), ({ projectId, params }) =>
    form.read(findRoom(resources, projectId, params.id)),
  )
  routes.update(
    (verb) => describe(`${verb}_${name}`, `Change ${title}; omitted fields keep their values`),
    body([]),
    async ({ projectId, params, body: fields }) => {
      const room = findRoom(resources, projectId, params.id)
      const change = conferenceRooms.change(fieldsOf(fields as Body, false), room, noResource)
      return changed(await nameTaken(resources.update(projectId, 'room', room.id, change)))
    },
  )
  routes.remove(describe(`delete_${name}`, `Delete ${title}`), ({ projectId, params }) =>
    resources.remove(projectId, 'room', findRoom(resources, projectId, params.id).id),
  )
  return routes
}

/** Returns a room by its id, or by its name at `/public/`. Throws `unknown_resource`. */
export const findRoom = (resources: Resources, projectId: string, idOrName: string): Room => {
  const found =
    resources.find(projectId, 'room', idOrName) ?? resources.findByAddress(projectId, 'public', idOrName)
  if (found?.type !== 'room') throw new TrunklineError('unknown_resource')
  return found
}

/** Returns a page of the rooms of a project. */
export const listRooms = (resources: Resources, projectId: string, page: ListPage): Listed<Room> => {
  const { items, total } = resources.list(projectId, { ...page, types: ['room'] })
  return { items: items.filter((each): each is Room => each.type === 'room'), total }
}

/** Returns the facts that all forms of a room have. */
export const commonBody = (room: Room) => ({
  id: room.id,
  address: `/${room.address.context}/${room.address.name}`,
  ...conferenceRooms.show(room),
  managed_by: room.managedByFile ? ('file' as const) : ('api' as const),
  created_at: timeText(room.createdAt),
  updated_at: timeText(room.updatedAt),
})

/** Schemas of {@link commonBody}. */
export const commonAnswers = {
  id: { type: 'string' },
  address: { type: 'string' },
  ...conferenceRooms.answer,
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

/** Finds no resources, as the fields of a room refer to none. */
const noResource = () => undefined

/** Names the field of this API if the name is taken. */
const nameTaken = async (change: Promise<Room>): Promise<Room> => {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof TrunklineError) || error.code !== 'address_taken') throw error
    throw new TrunklineError('address_taken', undefined, { attribute: 'name' }, error)
  }
}
