/** Of one mission. In a file of its own: the page needs it without the schemas, and the schemas without the rules. */
export const MAX_IMAGES = 5
