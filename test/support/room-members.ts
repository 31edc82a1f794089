/** Members of rooms, as a page with the published SDK knows them. */
import type { SdkPage } from './sdk-page.ts'

/** Member in the list of a page. */
export type ListedMember = { readonly member_id: string; readonly name: string } & Record<string, unknown>

/** Returns the members of the page's room. */
export const membersOf = async (page: SdkPage): Promise<readonly ListedMember[]> =>
  ((await page.do('getMembers')) as { members: readonly ListedMember[] }).members

/** Returns the member of the page's room with a name. */
export const memberNamed = async (page: SdkPage, name: string): Promise<ListedMember> =>
  (await membersOf(page)).find((member) => member.name === name)!

/** Returns the ids of the members of the page's room, in a fixed order. */
export const memberIds = async (page: SdkPage): Promise<readonly string[]> =>
  (await membersOf(page)).map(({ member_id }) => member_id).toSorted()

/** Number of leaves that a page has seen. */
export const leavesOf = ({ wire }: SdkPage): number => wire.events('member.left').length
