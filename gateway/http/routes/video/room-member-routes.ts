import type { RoomMemberRow } from '../../../directory/tables/room-sessions.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import { pageOf, pageQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { memberBody, memberSchema } from './room-session-body.ts'
import { type RoomSessionDeps, sessionInProgress, sessionsPath } from './room-session-lookup.ts'

/** Member with its session, if that is in progress on this gateway. */
interface ShownMember {
  readonly row: RoomMemberRow
  readonly session: RoomSession | undefined
}

const itemParams = {
  type: 'object',
  required: ['id', 'member_id'],
  properties: { id: { type: 'string' }, member_id: { type: 'string', description: 'Id of the member.' } },
} as const

const flag = { type: 'boolean' } as const

const changes = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    audio_muted: { ...flag, description: 'Whether the others do not hear the member.' },
    video_muted: { ...flag, description: 'Whether the others do not see the member.' },
    deaf: { ...flag, description: 'Whether the member does not hear the room.' },
    handraised: { ...flag, description: 'Whether the hand of the member is raised.' },
  },
} as const

/** Members of a session: list and read; change and remove those that are present. */
export const memberRoutes = (site: TypedSite, deps: RoomSessionDeps): void => {
  const { history, rooms, requireProject } = deps
  const options = {
    path: `${sessionsPath}/:id/members`,
    itemPath: ':member_id',
    params: idParams,
    itemParams,
    schema: memberSchema,
    show: ({ row, session }: ShownMember) =>
      memberBody(row, session, session && rooms.figuresOf(session, row.id)),
  }
  const shown = (projectId: string, row: RoomMemberRow): ShownMember => ({
    row,
    session: rooms.session(projectId, row.session_id),
  })
  const find = async (projectId: string, { id, member_id }: { id: string; member_id: string }) =>
    shown(projectId, await history.member(projectId, id, member_id))
  const reading = new CollectionRoutes<ShownMember, typeof idParams, typeof itemParams>(site, {
    ...options,
    onRequest: requireProject('records'),
  })
  reading.list(
    describe('list_room_session_members', 'List the members of a session, in order of joining'),
    pageQuery,
    async ({ projectId, params, query }) => {
      const { items, total } = await history.members(projectId, params.id, pageOf(query))
      return { items: items.map((row) => shown(projectId, row)), total }
    },
  )
  reading.read(describe('get_room_session_member', 'Get a member of a session'), ({ projectId, params }) =>
    find(projectId, params),
  )
  const control = new CollectionRoutes<ShownMember, typeof idParams, typeof itemParams>(site, {
    ...options,
    onRequest: requireProject('calling'),
  })
  control.change(
    'PATCH',
    describe('update_room_session_member', 'Mute, unmute or deafen a present member'),
    changes,
    async ({ projectId, params, body }) => {
      const session = await sessionInProgress(deps, projectId, params.id)
      session.change(params.member_id, withoutUndefined(body))
      return find(projectId, params)
    },
  )
  control.remove(
    describe('delete_room_session_member', 'Remove a present member from its room'),
    async ({ projectId, params }) => {
      const session = await sessionInProgress(deps, projectId, params.id)
      session.remove(params.member_id)
    },
  )
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)
