// The health check of the image, which has no curl: ends with 0 when the node in this container takes requests.
const basePath = new URL(process.env.STEPWELL_BASE_URL || "http://localhost").pathname.replace(/\/+$/, "");
const { status } = await fetch(`http://127.0.0.1:${process.env.STEPWELL_PORT || 8080}${basePath}/health/ready`);
process.exitCode = status === 200 ? 0 : 1;
