declare module 'virtual:operations' {
  /** Such as `POST /api/missions/:mission_id/dispatch`, by the name of the operation. */
  const routes: Record<string, `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`>
  export default routes
}
