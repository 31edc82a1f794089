import type { TypedSite } from '../../requests/typed-routes.ts'
import { conferenceRoutes } from './conference-routes.ts'
import { memberRoutes } from './room-member-routes.ts'
import { type RoomDeps, roomRoutes } from './room-routes.ts'
import type { RoomSessionDeps } from './room-session-lookup.ts'
import { roomSessionRoutes } from './room-session-routes.ts'
import { roomStreamRoutes } from './room-stream-routes.ts'
import { sessionStreamRoutes } from './session-stream-routes.ts'
import { videoLogRoutes } from './video-log-routes.ts'

/** Collaborators of {@link videoRoutes}. */
export type VideoDeps = RoomDeps & RoomSessionDeps

/** Routes of video rooms, of their sessions, members and streams, and of their logs, under `/api/video`. */
export const videoRoutes = (site: TypedSite, deps: VideoDeps): void => {
  roomRoutes(site, deps)
  conferenceRoutes(site, deps)
  roomSessionRoutes(site, deps)
  memberRoutes(site, deps)
  roomStreamRoutes(site, deps)
  sessionStreamRoutes(site, deps)
  videoLogRoutes(site, deps)
}
