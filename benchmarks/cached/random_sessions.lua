-- wrk script: requests random sessions. SESSION_IDS names a file with one id per line, PATH_PREFIX
-- is prepended to the id, FORWARDED_HTTPS adds the header of a TLS-terminating proxy.
local requests = {}

function init()
  math.randomseed(os.time())
  if os.getenv("FORWARDED_HTTPS") then wrk.headers["X-Forwarded-Proto"] = "https" end
  for id in io.lines(os.getenv("SESSION_IDS")) do
    requests[#requests + 1] = wrk.format("GET", os.getenv("PATH_PREFIX") .. id)
  end
end

function request()
  return requests[math.random(#requests)]
end
