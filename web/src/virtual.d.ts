declare module 'virtual:operations' {
  /** Such as `POST /api/missions/:mission_id/dispatch`, by the name of the operation. */
  const routes: Record<string, `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`>
  export default routes
  /**
   * The permission that an operation needs, by its name. With `fleet`, a role in one project is not enough; with
   * `either`, it is not enough for a call that names no project.
   */
  export const needs: Readonly<Record<string, string>>
}
